import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs classes of JUnit 4 tests and writes what becomes of each test as it ends, in a line of the
 * file that the property "report" names: its state, its name and what it said.
 */
public class Report extends RunListener {
  private static PrintStream report;
  private static final long SECONDS = Long.getLong("seconds", 60);

  private volatile Description running;
  private volatile boolean reported;
  private volatile boolean abandoned;

  public static void main(String[] classes) throws Exception {
    report = new PrintStream(System.getProperty("report"), "UTF-8");
    for (String name : classes) {
      new Report().run(Class.forName(name));
    }
    report.close();
    Runtime.getRuntime().halt(0); // not waiting for what tests left running
  }

  private void run(Class<?> tests) throws InterruptedException {
    JUnitCore core = new JUnitCore();
    core.addListener(this);
    Thread thread = new Thread(() -> core.run(tests));
    thread.setDaemon(true);
    thread.start();
    Description last = null;
    do { // A class is given up when one test of it takes too long.
      last = running;
      TimeUnit.SECONDS.timedJoin(thread, SECONDS);
    } while (thread.isAlive() && running != last);
    if (thread.isAlive()) {
      synchronized (this) {
        abandoned = true;
      }
      StringBuilder stack = new StringBuilder("not done within " + SECONDS + " s");
      for (StackTraceElement frame : thread.getStackTrace()) {
        stack.append("\n").append(frame);
      }
      print("failed", last, stack.toString());
    }
  }

  @Override
  public void testStarted(Description test) {
    running = test;
    reported = false;
  }

  @Override
  public void testFailure(Failure failure) {
    tell("failed", failure.getDescription(), failure.getTrace());
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    tell("skipped", failure.getDescription(), failure.getMessage());
  }

  @Override
  public void testIgnored(Description test) {
    tell("skipped", test, "");
    reported = false;
  }

  @Override
  public void testFinished(Description test) {
    if (!reported) {
      tell("passed", test, "");
    }
  }

  private synchronized void tell(String state, Description test, String detail) {
    reported = true;
    if (!abandoned) {
      print(state, test, detail);
    }
  }

  private static void print(String state, Description test, String detail) {
    String name =
        test == null
            ? "nothing"
            : test.getClassName() + "." + (test.getMethodName() == null ? "class" : test.getMethodName());
    String text = detail == null ? "" : detail.substring(0, Math.min(detail.length(), 4000));
    report.println(state + "\t" + name + "\t" + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", ""));
    report.flush();
  }
}
