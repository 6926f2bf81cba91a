package doctor

import (
	"context"

	"locus/control/finding"
	"locus/control/fleet"
)

// leastSpace is how much of the disk with a process's own files must be available, in bytes. These files are small: the last state of the cluster,
// certificates, workers' numbers.
const leastSpace = 256 << 20

// disks checks the disks of proxies and movers.
func (e *examination) disks(ctx context.Context) {
	disks, err := fleet.Ask[fleet.Disk](ctx, e.KV, fleet.Space, patience)
	if err != nil {
		return // answers reports why
	}
	e.spaceOf(disks.By)
}

func (e *examination) spaceOf(disks map[string]fleet.Disk) {
	for id, d := range disks {
		if d.Total > 0 && d.Available < leastSpace {
			e.find(finding.AtRisk, "disk", id, "free space on the disk of "+d.Dir+" on that machine: the process saves there the state that it needs to start without etcd",
				"%d MiB of the %d MiB of the disk with its data_dir are available", d.Available>>20, d.Total>>20)
		}
	}
}
