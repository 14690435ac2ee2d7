import java.lang.reflect.Field;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collections;
import org.apache.beam.runners.spark.SparkJobServerDriver;
import org.apache.beam.vendor.grpc.v1p60p1.io.grpc.InternalGlobalInterceptors;
import org.apache.beam.vendor.grpc.v1p60p1.io.grpc.Metadata;
import org.apache.beam.vendor.grpc.v1p60p1.io.grpc.ServerCall;
import org.apache.beam.vendor.grpc.v1p60p1.io.grpc.ServerCallHandler;
import org.apache.beam.vendor.grpc.v1p60p1.io.grpc.ServerInterceptor;
import org.apache.beam.vendor.grpc.v1p60p1.io.grpc.Status;

/**
 * Beam's job server for Spark. All its servers, those for workers of this machine too, listen on the loopback
 * interface, and serve callers that show the secret of the build (secret.py).
 *
 * <p>Compiled when it is started, by Janino, which Spark brings: a JRE has no compiler. Janino knows neither
 * lambdas nor type arguments.
 */
public final class GuardedJobServer implements ServerInterceptor {
  private static final Metadata.Key HEADER =
      Metadata.Key.of("corpusmill-secret", Metadata.ASCII_STRING_MARSHALLER);

  private final byte[] secret;

  private GuardedJobServer(String secret) {
    this.secret = secret.getBytes(StandardCharsets.UTF_8);
  }

  public ServerCall.Listener interceptCall(ServerCall call, Metadata headers, ServerCallHandler next) {
    String shown = (String) headers.get(HEADER);
    if (shown != null && MessageDigest.isEqual(shown.getBytes(StandardCharsets.UTF_8), secret)) {
      return next.startCall(call, headers);
    }
    String refusal = "the caller does not show the secret of this server (CORPUSMILL_SECRET)";
    call.close(Status.UNAUTHENTICATED.withDescription(refusal), new Metadata());
    return new NoListener();
  }

  private static final class NoListener extends ServerCall.Listener {}

  /** Beam's ServerFactory names a port and no address, which Java takes for all interfaces. */
  private static void listenOnLoopbackOnly() throws Exception {
    Field implementation = InetAddress.class.getDeclaredField("impl");
    implementation.setAccessible(true);
    Object addresses = implementation.get(null);
    Field anyAddress = addresses.getClass().getDeclaredField("anyLocalAddress");
    anyAddress.setAccessible(true);
    anyAddress.set(addresses, InetAddress.getLoopbackAddress());
  }

  public static void main(String[] arguments) throws Exception {
    listenOnLoopbackOnly();
    InternalGlobalInterceptors.setInterceptorsTracers(
        Collections.EMPTY_LIST,
        Collections.singletonList(new GuardedJobServer(System.getenv("CORPUSMILL_SECRET"))),
        Collections.EMPTY_LIST);
    SparkJobServerDriver.main(arguments);
  }
}
