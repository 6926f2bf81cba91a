package overview

import (
	"context"
	"fmt"
	"time"

	"locus/config/etcd"
	"locus/control/doctor"
	"locus/control/failover"
	"locus/control/finding"
	"locus/router"
)

// Notes are documents in etcd that other processes and operators write.
type Notes struct {
	// Records are written by the processes that monitor the shards' servers.
	Records map[router.ShardName]failover.Record
	// Acknowledged are the findings that operators have acknowledged, by their IDs.
	Acknowledged map[string]finding.Acknowledgement
	// Report is the latest report of locus doctor in etcd. Its time is zero if there is none.
	Report doctor.Report
}

// reportLasts is the age at which a report is no longer shown.
const reportLasts = 25 * time.Minute

// ReadNotes reads the documents as of one revision of etcd, without those that can't be read.
func ReadNotes(ctx context.Context, kv *etcd.KV, now time.Time) (Notes, error) {
	pairs, _, err := kv.GetPrefixes(ctx, failover.RecordPrefix, finding.AcknowledgedPrefix, doctor.ReportKey)
	if err != nil {
		return Notes{}, fmt.Errorf("read records, acknowledgements and the report of doctor: %w", err)
	}
	report := doctor.DecodeReport(pairs[2])
	if now.Sub(report.At) > reportLasts {
		report = doctor.Report{}
	}
	return Notes{failover.DecodeRecords(pairs[0]), finding.Decode(pairs[1]), report}, nil
}
