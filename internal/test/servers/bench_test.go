//go:build servers

package servers

import (
	"fmt"
	"syscall"
	"testing"

	"locus/cmd/dbserver"
)

// BenchmarkStart starts servers and kills them. It reports the CPU time of this process and of the servers next to the elapsed time.
func BenchmarkStart(b *testing.B) {
	for _, engine := range dbserver.Engines() {
		for _, n := range []int{1, 3} {
			b.Run(fmt.Sprintf("%s/%d", engine, n), func(b *testing.B) {
				installation := find(b, engine)
				before := cpu(b)
				for b.Loop() {
					started, err := start(b.Context(), installation, b.TempDir(), 0, n, nil)
					for _, s := range started {
						if err := s.end(); err != nil {
							b.Error(err)
						}
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((cpu(b)-before)/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// cpu returns the milliseconds of CPU time that this process and its ended children have used.
func cpu(b *testing.B) (ms float64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		ms += float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
	}
	return ms
}
