package main

import (
	"log/slog"

	"locus/config"
	"locus/control/tracing"
)

// openTraces opens the exporter of traces. It returns nil if the configuration has no endpoint.
func openTraces(c *config.Config, id string, log *slog.Logger) (*tracing.Spans, error) {
	t := c.Tracing
	if t.Endpoint == "" {
		return nil, nil
	}
	return tracing.Open(tracing.Options{
		Endpoint: t.Endpoint, Sample: t.Sample, HeadersFile: t.HeadersFile, CA: t.CA, Timeout: t.Timeout.Std(),
		Cluster: c.Cluster, Instance: id, Version: buildVersion().Version, Log: log,
	})
}
