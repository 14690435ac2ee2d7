import java.io.File;

import net.sf.okapi.lib.xliff2.core.Part;
import net.sf.okapi.lib.xliff2.core.Segment;
import net.sf.okapi.lib.xliff2.core.TargetState;
import net.sf.okapi.lib.xliff2.processor.DefaultEventHandler;
import net.sf.okapi.lib.xliff2.processor.XLIFFProcessor;
import net.sf.okapi.lib.xliff2.reader.Event;
import net.sf.okapi.lib.xliff2.reader.XLIFFReader;

/**
 * What a translator's tool does: reads an XLIFF 2 document, fills the targets that are missing (with the source),
 * and writes it. What is read and what is written is checked against the schemas of the standard.
 */
public class FillTargets {
    public static void main(String[] files) {
        File input = new File(files[0]);
        File output = new File(files[1]);
        XLIFFReader.validate(input);
        XLIFFProcessor processor = new XLIFFProcessor();
        processor.setHandler(new DefaultEventHandler() {
            @Override
            public Event handleUnit(Event event) {
                for (Segment segment : event.getUnit().getSegments()) {
                    segment.getTarget(Part.GetTarget.CLONE_SOURCE);
                    segment.setState(TargetState.TRANSLATED);
                }
                return event;
            }
        });
        processor.run(input, output);
        XLIFFReader.validate(output);
    }
}
