package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"locus/config/etcd"
	"locus/control/finding"
)

// Report contains the number of processes and servers that were checked, and the findings. It contains no
// problem that the proxies or etcd report at any moment: package overview finds those.
type Report struct {
	At       time.Time         `json:"at,omitzero"` // when the checks ended
	Etcd     int               `json:"etcd_endpoints"`
	Proxies  int               `json:"proxies"`
	Shards   int               `json:"shards"`
	Findings []finding.Finding `json:"findings"`
}

// ReportKey is the key of the latest report, which all processes show.
const ReportKey = "findings/report"

// mostKept bounds the findings of a report in etcd. The most severe ones are kept.
const mostKept = 500

// Keep writes the report to etcd, for all processes.
func (r Report) Keep(ctx context.Context, kv *etcd.KV) error {
	if n := len(r.Findings); n > mostKept {
		more := finding.New(r.Findings[mostKept-1].Severity, "doctor", "etcd", "locus doctor", "%d more findings are shown only by the command", n-mostKept+1)
		r.Findings = append(r.Findings[:mostKept-1:mostKept-1], more)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err = kv.Commit(ctx, nil, etcd.Put(ReportKey, text)); err != nil {
		return fmt.Errorf("keep the report of doctor: %w", err)
	}
	return nil
}

// DecodeReport returns the report in documents of etcd. Its time is zero if none can be read.
func DecodeReport(pairs []etcd.KeyValue) (r Report) {
	for _, p := range pairs {
		if p.Key != ReportKey || json.Unmarshal(p.Value, &r) != nil {
			return Report{}
		}
	}
	return r
}
