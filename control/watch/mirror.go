package watch

import (
	"fmt"
	"strconv"

	"locus/proxy/meter"
	"locus/proxy/mirror"
)

// mirror compares the target's answers to mirrored reads with the source's.
func (d *drawing) mirror(percent int, r mirror.Report) {
	if percent == 0 && r.Sampled == 0 {
		return
	}
	colour := plain
	if r.Different > 0 {
		colour = yellow
	}
	d.field("mirror", fmt.Sprintf("%d %% of the reads: %s", percent, Mirrored(r)), colour)
	if r.Away != "" {
		d.field("", "the target is unreachable "+goneSince(r)+", and gets no reads until it is back: "+r.Away, red)
	}
	for _, diff := range r.Differences[:min(len(r.Differences), 3)] {
		d.field("", fmt.Sprintf("differs %d times, gene %s, %d rows and %d: %s", diff.Times, diff.Gene, diff.SourceRows, diff.TargetRows, diff.Statement), yellow)
	}
}

// goneSince formats the time at which the first proxy found the target unreachable.
func goneSince(r mirror.Report) string { return "since " + r.AwaySince.UTC().Format("15:04:05") }

// Mirrored formats the results of mirrored reads in one line.
func Mirrored(r mirror.Report) string {
	if r.Compared+r.Late == 0 {
		return "none compared yet" + unsent(r)
	}
	ms := func(t meter.Tally, share float64) string {
		return strconv.FormatFloat(meter.Quantile(t.Times, share).Seconds()*1000, 'g', 3, 64)
	}
	return fmt.Sprintf("%s compared, %s, %s lag%s; p50 %s ms at the source and %s at the target, p99 %s and %s",
		Count(int64(r.Compared)), counted(int64(r.Different), "difference"), Count(int64(r.Lag)), unsent(r),
		ms(r.Source, 0.5), ms(r.Target, 0.5), ms(r.Source, 0.99), ms(r.Target, 0.99))
}

// unsent lists sampled reads that were not compared, and those that are undecided.
func unsent(r mirror.Report) (text string) {
	add := func(n uint64, what string) {
		if n > 0 {
			text += ", " + Count(int64(n)) + " " + what
		}
	}
	add(uint64(r.Looking), "looked at again")
	add(r.Unsettled, "unsettled")
	add(r.Reordered, "in another order")
	add(r.Dropped, "dropped")
	add(r.TooLong, "too long")
	add(r.Unsent, "not sent")
	add(r.Late, "without an answer in time")
	add(r.Failed, "failed")
	return text
}
