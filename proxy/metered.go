package proxy

import (
	"context"
	"time"

	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/router"
)

// turnEvery is between two turns of the rates by gene.
const turnEvery = 10 * time.Second

// turnMeter keeps the rates by gene those of the last minutes, until ctx ends.
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

// Load is the statements per second by gene, of the last minutes.
func (p *Proxy) Load() meter.Load { return p.meter.Genes.Load(time.Now()) }

// SetSlow says from how long on statements are slow; 0: none is.
func (p *Proxy) SetSlow(after time.Duration) { p.meter.Slow.SetAfter(after) }

// Slow is the slow statements.
func (p *Proxy) Slow() *meter.Slow { return &p.meter.Slow }

// Statements is what the statements of each digest have cost.
func (p *Proxy) Statements() *meter.Statements { return &p.meter.Statements }

// follow has what concerns the moves under way counted, and forgets all others.
func (p *Proxy) follow(moves []router.Move) {
	p.meter.Moves.Follow(moves)
	p.mirror.Follow(moves)
}

// Mirrored is what mirrored reads have shown, by job.
func (p *Proxy) Mirrored() map[string]mirror.Report { return p.mirror.Reports() }

// Outcomes is how statements on moving genes have fared, by job.
func (p *Proxy) Outcomes() map[string]meter.Outcome { return p.meter.Moves.Outcomes() }
