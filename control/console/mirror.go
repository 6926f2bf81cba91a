package console

import (
	"github.com/prometheus/client_golang/prometheus"

	"locus/proxy/meter"
	"locus/proxy/mirror"
)

// mirrorMetrics reports the metrics of the proxy's own mirrored reads.
func mirrorMetrics(all map[string]mirror.Report, gauge func(*prometheus.Desc, float64, ...string), counter func(*prometheus.Desc, uint64, ...string)) {
	for job, r := range all {
		r.Each(func(outcome string, n uint64) { counter(mirrorReads, n, job, outcome) })
		for side, tally := range map[string]meter.Tally{"source": r.Source, "target": r.Target} {
			gauge(mirrorSeconds, meter.Quantile(tally.Times, 0.5).Seconds(), job, side, "0.5")
			gauge(mirrorSeconds, meter.Quantile(tally.Times, 0.99).Seconds(), job, side, "0.99")
		}
		gauge(mirrorAway, truth(r.Away != ""), job)
	}
}
