package watch

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/proxy/meter"
)

// drawDetails draws all figures of one digest. s has its figures of the last seconds.
func (c Canvas) drawDetails(s Statement, details meter.Details) string {
	d := drawing{Canvas: c}
	for _, line := range wrapped(s.line(), max(20, c.Width)) {
		d.line("%s", d.bold(line))
	}
	d.line("")
	d.line("%s", d.in(faint, strings.Join([]string{details.Kind, "digest " + details.Hash, "tables " + orNone(strings.Join(details.Tables, ", "))}, "  ")))
	d.line("now    %s/s  p50 %s ms  p99 %s ms  %s under way  %s errors/s", Rate(s.PerSecond), Rate(s.P50Ms), Rate(s.P99Ms), Rate(s.Load), Rate(s.Errors))
	d.line("total  %s times, %s, the slowest %s ms, %s errors, %s rows", Count(int64(details.Count)), Rounded(time.Duration(details.TotalMs*float64(time.Millisecond))),
		Rate(details.SlowestMs), Count(int64(details.Failed)), Count(int64(details.Rows)))
	if details.Several > 0 {
		d.line("       %s on several shards, %s of them each; %s gathered", Count(int64(details.Several)), Rate(float64(details.Sent)/float64(details.Several)), Count(int64(details.Gathered)))
	}
	if details.Gathered > 0 {
		d.line("       %s rows gathered, %s of them by key", Count(int64(details.Copied)), Count(int64(details.Keyed)))
	}
	d.past(details.Minutes)
	d.parts("SHARD", details.Shards)
	d.parts("USER", details.Users)
	d.parts("ERROR", details.Codes)
	return d.String()
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// past draws the rate and the p99 of each of the last minutes.
func (d *drawing) past(points []meter.Point) {
	if len(points) == 0 {
		return
	}
	points = points[max(0, len(points)-max(10, d.Width-30)):]
	var rates, p99s []float64
	for _, p := range points {
		rates = append(rates, float64(p.Count)/60)
		p99s = append(p99s, meter.Quantile(p.Times, 0.99).Seconds()*1000)
	}
	d.line("")
	d.line("by minute since %s", points[0].At.UTC().Format("15:04"))
	d.line("rate   %s  %s to %s /s", spark(rates), Rate(least(rates)), Rate(most(rates)))
	d.line("p99    %s  %s to %s ms", spark(p99s), Rate(least(p99s)), Rate(most(p99s)))
}

func least(values []float64) float64 {
	low := values[0]
	for _, v := range values {
		low = min(low, v)
	}
	return low
}

func most(values []float64) float64 {
	high := values[0]
	for _, v := range values {
		high = max(high, v)
	}
	return high
}

// spark draws values as bars from zero to the highest of them.
func spark(values []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	high := most(values)
	var b strings.Builder
	for _, v := range values {
		at := 0
		if high > 0 {
			at = min(len(bars)-1, int(v/high*float64(len(bars))))
		}
		b.WriteRune(bars[at])
	}
	return b.String()
}

// parts draws the figures by a name.
func (d *drawing) parts(head string, parts []meter.Part) {
	if len(parts) == 0 {
		return
	}
	width := 12
	for _, p := range parts {
		width = max(width, len([]rune(p.Name)))
	}
	width = min(width, max(10, d.Width-40))
	d.line("")
	d.line("%s", d.in(faint, cell(head, width)+fmt.Sprintf("%12s%12s%12s", "TIMES", "AVERAGE MS", "ERRORS")))
	for _, p := range parts {
		colour := plain
		if p.Failed > 0 {
			colour = red
		}
		d.line("%s%s", cell(p.Name, width), d.in(colour, fmt.Sprintf("%12s%12s%12s", Count(int64(p.Count)), Rate(p.TotalMs/float64(max(1, p.Count))), strconv.FormatUint(p.Failed, 10))))
	}
}

// wrapped breaks a text into lines of a width, at blanks if there are any.
func wrapped(text string, width int) (lines []string) {
	runes := []rune(text)
	for len(runes) > width {
		at := width
		if blank := strings.LastIndexByte(string(runes[:width]), ' '); blank > 0 {
			at = len([]rune(string(runes[:width])[:blank]))
		}
		lines = append(lines, string(runes[:at]))
		runes = []rune(strings.TrimLeft(string(runes[at:]), " "))
	}
	return append(lines, string(runes))
}
