package doctor

import (
	"context"
	"slices"
	"strings"

	"locus/config"
	"locus/control/finding"
	"locus/control/fleet"
)

// users reports users that can't log in at a proxy because their secret is missing. If no proxy answers, it
// looks up the secrets in the configuration of this command.
func (e *examination) users(ctx context.Context) {
	const check = "users"
	remedy := func(secret string) string {
		return "put the password where proxies look for secrets: the file " + secret + " in secrets.dir, or " + config.SecretVariable(secret) + "; then kill -HUP"
	}
	beats, err := fleet.Beats(ctx, e.KV)
	if err != nil {
		return // package overview reports it
	}
	for _, name := range e.Cluster.UserNames() {
		u := e.Cluster.Users[name]
		if u.Secret == "" {
			continue
		}
		var at []string
		why := ""
		for id, b := range beats.By {
			if text, is := b.LockedOut[name]; is {
				at, why = append(at, id), text
			}
		}
		slices.Sort(at)
		if len(at) > 0 {
			e.find(finding.Outage, check, name, remedy(u.Secret), "can't log in at %s: %s", strings.Join(at, ", "), why)
		}
		if len(beats.By) > 0 || e.Secrets == nil {
			continue
		}
		if _, err := e.Secrets(u.Secret); err != nil {
			e.find(finding.AtRisk, check, name, remedy(u.Secret), "could not log in with this configuration: %v", err)
		}
	}
}
