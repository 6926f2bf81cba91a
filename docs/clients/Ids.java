import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;

/**
 * IDs of a generator, kept ready in memory. Java 11 or later; for SQL a JDBC driver of MySQL or MariaDB.
 *
 * <pre>
 * Ids ids = new Ids(Ids.http("http://locus:8080/api/id/ticket", "app", "..."), 1000, 0.5);
 * ids.next(); // "1"
 * </pre>
 *
 * An Ids belongs to one process and may be used by all of its threads. IDs in memory are lost when the process ends.
 */
public final class Ids {
    /** Returns up to n IDs. */
    public interface Fetch {
        List<String> fetch(int n) throws Exception;
    }

    private static final long TIMEOUT_MS = 10_000;

    private final Fetch fetch;
    private final int batch;
    private final double low;
    private final ArrayDeque<String> ready = new ArrayDeque<>(); // this guards it, and what follows
    private boolean loading;
    private long done;
    private int failed; // fetches in a row
    private Exception error; // of the last one

    /** The next batch is fetched in the background when a share (preload) of one is used. */
    public Ids(Fetch fetch, int batch, double preload) {
        this.fetch = fetch;
        this.batch = batch;
        this.low = batch * (1 - preload);
    }

    /** Returns an ID. It waits only if none is ready, and throws an error if two fetches in a row fail while it waits. */
    public synchronized String next() throws Exception {
        long second = done + 2, until = System.nanoTime() + TIMEOUT_MS * 1_000_000;
        while (ready.isEmpty()) {
            if (done >= second && failed >= 2) {
                throw new Exception(error.getMessage(), error);
            }
            if (!loading) {
                load();
            }
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new TimeoutException("no ID came within " + TIMEOUT_MS + " ms");
            }
            wait(left);
        }
        String id = ready.poll();
        if (ready.size() < low && !loading) {
            load();
        }
        return id;
    }

    private void load() { // the caller holds this
        loading = true;
        Thread thread = new Thread(() -> {
            List<String> ids = List.of();
            Exception failure = null;
            try {
                ids = fetch.fetch(batch);
            } catch (Exception e) { // for the callers that wait; a later one tries again
                failure = e;
            }
            synchronized (this) {
                ready.addAll(ids);
                loading = false;
                this.failed = failure == null ? 0 : this.failed + 1;
                error = failure;
                done++;
                notifyAll();
            }
        }, "ids");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns a fetch over HTTP. A request that failed may have used numbers up; they are lost, and no ID comes twice. */
    public static Fetch http(String url, String user, String password) {
        HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
        return n -> {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + (url.contains("?") ? "&" : "?") + "n=" + n)).timeout(Duration.ofSeconds(5));
            if (user != null) {
                request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes("UTF-8")));
            }
            HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new Exception(url + ": " + answer.statusCode() + " " + answer.body().trim());
            }
            return List.of(answer.body().split("\n"));
        };
    }

    /** Returns a fetch over SQL. */
    public static Fetch sql(DataSource source, String generator) {
        return n -> {
            List<String> ids = new ArrayList<>();
            try (Connection connection = source.getConnection(); Statement statement = connection.createStatement()) {
                while (ids.size() < n) {
                    int columns = Math.min(100, n - ids.size());
                    try (ResultSet row = statement.executeQuery("SELECT " + String.join(", ", Collections.nCopies(columns, "NEXTVAL(" + generator + ")")))) {
                        row.next();
                        for (int i = 1; i <= columns; i++) {
                            ids.add(row.getString(i));
                        }
                    }
                }
            }
            return ids;
        };
    }

    /** java Ids.java URL COUNT: prints IDs that four threads take. */
    public static void main(String[] args) throws Exception {
        Ids ids = new Ids(http(args[0], null, null), 1000, 0.5);
        int each = Integer.parseInt(args[1]) / 4;
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<String>> taken = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            taken.add(threads.submit((Callable<String>) () -> {
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < each; i++) {
                    text.append(ids.next()).append('\n');
                }
                return text.toString();
            }));
        }
        threads.shutdown();
        for (Future<String> one : taken) {
            System.out.print(one.get());
        }
    }
}
