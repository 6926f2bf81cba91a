package doctor

import "locus/control/finding"

// generators reports generators whose members all depend on the same server.
func (e *examination) generators() {
	for _, why := range e.Cluster.FailTogether(nil) {
		e.find(finding.Advice, "generators", "cluster.yaml", "locus apply -f cluster.yaml, with a member that needs another server", "%s", why)
	}
}
