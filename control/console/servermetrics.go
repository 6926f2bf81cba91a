package console

import (
	"github.com/prometheus/client_golang/prometheus"

	"locus/proxy/health"
)

// serverCollector collects only the servers' states, so that it can be scraped several times a second.
type serverCollector struct{ p Proxy }

func (c serverCollector) Describe(out chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, out)
}

func (c serverCollector) Collect(out chan<- prometheus.Metric) {
	serverMetrics(c.p.Status().Servers, func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	})
}

func serverMetrics(all []health.Status, gauge func(*prometheus.Desc, float64, ...string)) {
	for _, server := range all {
		role := server.Role()
		for _, state := range health.States {
			gauge(serverState, truth(server.State == state), string(server.Shard), server.Addr, role, state.String())
		}
		gauge(serverProbe, server.Took.Seconds(), string(server.Shard), server.Addr, role)
	}
}
