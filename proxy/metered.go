package proxy

import (
	"context"
	"time"

	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/router"
)

// turnEvery is the interval between two updates of the rates.
const turnEvery = 10 * time.Second

// turnMeter updates the decaying rates of statements by gene and by digest until ctx ends.
func (p *Proxy) turnMeter(ctx context.Context) {
	p.meter.Genes.Turn(time.Now())
	p.meter.Statements.Turn(time.Now())
	ticker := time.NewTicker(turnEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.meter.Genes.Turn(now)
			p.meter.Statements.Turn(now)
		}
	}
}

// Load returns the statements per second by gene, over the last minutes.
func (p *Proxy) Load() meter.Load { return p.meter.Genes.Load(time.Now()) }

// SetSlow sets the duration from which a statement is slow. With 0, no statement is slow.
func (p *Proxy) SetSlow(after time.Duration) { p.meter.Slow.SetAfter(after) }

// Slow returns the slow statements.
func (p *Proxy) Slow() *meter.Slow { return &p.meter.Slow }

// Statements returns the cost of the statements of each digest.
func (p *Proxy) Statements() *meter.Statements { return &p.meter.Statements }

// follow starts counters and mirrored reads for the moves in progress, and ends the counters and reads of all others.
func (p *Proxy) follow(moves []router.Move) {
	p.meter.Moves.Follow(moves)
	p.mirror.Follow(moves)
}

// Mirrored returns the results of mirrored reads, by job.
func (p *Proxy) Mirrored() map[string]mirror.Report { return p.mirror.Reports() }

// Outcomes returns errors and latencies of the statements on moving genes, by job.
func (p *Proxy) Outcomes() map[string]meter.Outcome { return p.meter.Moves.Outcomes() }
