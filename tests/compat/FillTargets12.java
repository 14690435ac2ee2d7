import java.io.File;

import net.sf.okapi.common.Event;
import net.sf.okapi.common.LocaleId;
import net.sf.okapi.common.filterwriter.IFilterWriter;
import net.sf.okapi.common.resource.ITextUnit;
import net.sf.okapi.common.resource.RawDocument;
import net.sf.okapi.filters.xliff.XLIFFFilter;

/** What a translator's tool does: reads an XLIFF 1.2 document, fills missing targets (with the source), and writes it. */
public class FillTargets12 {
    public static void main(String[] files) {
        LocaleId target = LocaleId.fromString(files[2]);
        XLIFFFilter filter = new XLIFFFilter();
        filter.open(new RawDocument(new File(files[0]).toURI(), "UTF-8", LocaleId.ENGLISH, target));
        IFilterWriter writer = filter.createFilterWriter();
        writer.setOptions(target, "UTF-8");
        writer.setOutput(files[1]);
        while (filter.hasNext()) {
            Event event = filter.next();
            if (event.isTextUnit()) {
                ITextUnit unit = event.getTextUnit();
                if (!unit.hasTarget(target) || unit.getTarget(target).isEmpty()) {
                    unit.setTarget(target, unit.getSource().clone());
                }
            }
            writer.handleEvent(event);
        }
        writer.close();
        filter.close();
    }
}
