import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** Sends to a recorder what Java's own HTTP client sends: `java Calls.java ORIGIN PATH`. */
public class Calls {
    public static void main(String[] arguments) throws Exception {
        URI uri = URI.create(arguments[0] + arguments[1]);
        HttpClient client = HttpClient.newHttpClient();
        String order = "{\"merchantName\":\"Shop\",\"purchaseAmount\":\"100\",\"purchaseCurrency\":\"840\",\"purchaseExponent\":\"2\"}";
        HttpRequest.Builder post = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json").POST(BodyPublishers.ofString(order));
        client.send(post.build(), BodyHandlers.ofString());
        client.send(post.version(HttpClient.Version.HTTP_1_1).expectContinue(true).build(), BodyHandlers.ofString());
        client.send(HttpRequest.newBuilder(uri).version(HttpClient.Version.HTTP_1_1)
            .method("HEAD", BodyPublishers.noBody()).build(), BodyHandlers.discarding());
        client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
