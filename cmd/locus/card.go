package main

import (
	"cmp"
	"net"
	"os"
	"time"

	"locus/cmd/fleet"
	"locus/config"
)

// presenceTTL is how long a dead proxy is still listed.
const presenceTTL = 10 * time.Second

func newCard(c *config.Config, listens net.Addr, now time.Time) fleet.Card {
	host, port := hostOf(listens)
	addr := cmp.Or(c.Proxy.Advertise, net.JoinHostPort(host, port))
	name, err := os.Hostname()
	if err != nil {
		name = host
	}
	return fleet.Card{
		ID: name + ":" + port, Addr: addr, Version: buildVersion().Version, PID: os.Getpid(), Started: now.UTC().Round(time.Second),
		Answers: true,
	}
}

// hostOf is the name that others may know this listener's host by.
func hostOf(addr net.Addr) (host, port string) {
	host, port, _ = net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		name, err := os.Hostname()
		host = cmp.Or(name, host)
		if err != nil {
			return host, port
		}
	}
	return host, port
}
