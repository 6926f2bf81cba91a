package console

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"locus/proxy/meter"
)

// meterMetrics reports the metrics of all statements.
func meterMetrics(m *meter.Meter, out chan<- prometheus.Metric, gauge func(*prometheus.Desc, float64, ...string), counter func(*prometheus.Desc, uint64, ...string)) {
	for _, l := range m.Latencies.All() {
		out <- newHistogram(duration, &l.Distribution, l.Kind.String(), l.Shard, l.Ending.String())
	}
	for code, n := range m.Codes.All {
		name := "other"
		if code != 0 {
			name = strconv.Itoa(int(code))
		}
		counter(errorCodes, n, name)
	}
	gauge(digestsKept, float64(m.Statements.Kept()))
	gauge(digestsMost, meter.MostDigests)
}

// histogram has classic buckets, and native ones for servers that request them.
type histogram struct{ classic, native prometheus.Metric }

func newHistogram(desc *prometheus.Desc, d *meter.Distribution, labels ...string) prometheus.Metric {
	zero, buckets := d.Native()
	native, err := prometheus.NewConstNativeHistogram(desc, d.Count, d.Sum.Seconds(), buckets, nil, zero, meter.NativeSchema, meter.NativeZero, time.Time{}, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return histogram{prometheus.MustNewConstHistogram(desc, d.Count, d.Sum.Seconds(), d.Classic(), labels...), native}
}

// Desc implements prometheus.Metric.
func (h histogram) Desc() *prometheus.Desc { return h.classic.Desc() }

// Write implements prometheus.Metric.
func (h histogram) Write(to *dto.Metric) error {
	var classic dto.Metric
	if err := h.classic.Write(&classic); err != nil {
		return err
	}
	if err := h.native.Write(to); err != nil {
		return err
	}
	to.Histogram.Bucket = classic.Histogram.Bucket
	to.Histogram.CreatedTimestamp = nil // the start of a count is unknown
	return nil
}
