package migrate

import (
	"fmt"
	"strconv"
	"time"

	"locus/migrate/job"
)

// Limits bound how much the watched metrics may get worse during a rolling cut-over. A zero field means its default.
type Limits struct {
	Errors  float64       // increase of the error rate of statements on the moved genes; 0.01
	Slower  float64       // factor by which their p99 latency may grow; 2
	Slack   time.Duration // latency increase that is always permitted; 20 ms
	Running int           // statements running at the target, if there are more than before; 64
	// Least is the number of failed or slow statements below which a change counts as chance; 5.
	Least uint64
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.Errors, 0.01)
	orDefault(&l.Slower, 2)
	orDefault(&l.Slack, 20*time.Millisecond)
	orDefault(&l.Running, 64)
	orDefault(&l.Least, 5)
	return l
}

func orDefault[T int | uint64 | float64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// figures are the metrics that are watched during a rolling cut-over.
type figures struct {
	Lag, Back time.Duration // lag of the streams
	Held      time.Duration // time for which the last step paused statements
	Conflicts int64
	Running   int // statements running at the target
	// Fared holds the errors and latencies of the moving genes' statements so far. told is true if the proxies have just
	// reported them. Otherwise they are an earlier value.
	Fared job.Outcomes
	told  bool
}

// worse describes the metric that exceeds its limit since the last step, or returns "". Usual holds the results
// of the genes' statements at the source before the first step.
func (f figures) worse(before figures, usual job.Tally, t Times, l Limits) string {
	switch {
	case f.Conflicts > before.Conflicts:
		return fmt.Sprintf("%d rows were refused since the last step: locus.move_conflict on the target's server has them", f.Conflicts-before.Conflicts)
	case f.Lag > t.Lag && f.Lag > before.Lag:
		return fmt.Sprintf("the stream to the target is %v behind, more than %v", f.Lag.Round(time.Millisecond), t.Lag)
	case f.Back > t.Lag && f.Back > before.Back:
		return fmt.Sprintf("the stream back to the source is %v behind, more than %v", f.Back.Round(time.Millisecond), t.Lag)
	case f.Held > t.Held && f.Held > before.Held:
		return fmt.Sprintf("the last step paused statements for %v, more than %v", f.Held, t.Held)
	case f.Running > l.Running && f.Running > before.Running:
		return fmt.Sprintf("%d statements run at the target at once, more than %d", f.Running, l.Running)
	}
	return l.faresWorse(f.Fared.Target.Since(before.Fared.Target), usual)
}

// faresWorse compares the errors and latencies of the moved genes' statements at the target with those at the
// source.
func (l Limits) faresWorse(now, usual job.Tally) string {
	n := now.Statements()
	if most := usual.Rate() + l.Errors; now.Failed >= l.Least && now.Rate() > most {
		return fmt.Sprintf("%d of %d statements on the moved genes failed at the target since the last step: %s, before the cut-over it was %s",
			now.Failed, n, percent(now.Rate()), percent(usual.Rate()))
	}
	if usual.Statements() < 100*l.Least {
		return "" // too few statements for a meaningful p99
	}
	limit := time.Duration(l.Slower*float64(usual.P99())) + l.Slack
	if slow := now.Slower(limit); slow >= l.Least && slow > n/100 {
		return fmt.Sprintf("%d of %d statements on the moved genes took longer than %v at the target since the last step: their p99 is %v, before the cut-over it was %v",
			slow, n, limit.Round(time.Millisecond), now.P99().Round(100*time.Microsecond), usual.P99().Round(100*time.Microsecond))
	}
	return ""
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }
