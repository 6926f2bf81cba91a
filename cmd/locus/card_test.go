package main

import (
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"locus/config"
	"locus/control/fleet"
	"locus/idgen/snowflake"
)

// Two runs of a process on the same host and port get different IDs, so the second run doesn't mistake transactions of the
// first one for its own.
func TestEachRunHasAnIDOfItsOwn(t *testing.T) {
	c, err := config.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	listens := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4306}
	first, second := newCard(c, listens, time.Now()), newCard(c, listens, time.Now())
	if first.ID == second.ID || !strings.Contains(first.ID, ":4306-") || first.Addr != second.Addr {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// TestWorkerOf checks the settings of the worker number. The process's address is part of them only with reuse: address.
func TestWorkerOf(t *testing.T) {
	for text, want := range map[string]snowflake.Options{
		"{}":                             {Last: 1023, Claim: 24 * time.Hour},
		"snowflake: {workers: 0}":        {One: true, Claim: 24 * time.Hour},
		"snowflake: {workers: 512-1023}": {First: 512, Last: 1023, Claim: 24 * time.Hour},
		"snowflake: {workers: 7, reuse: address}":  {First: 7, Last: 7, One: true, Claim: 10 * time.Minute, Address: "10.0.0.1:4306"},
		"snowflake: {reuse: address, claim: 30s}":  {Last: 1023, Claim: 30 * time.Second, Address: "10.0.0.1:4306"},
		"snowflake: {reuse: data_dir, claim: 48h}": {Last: 1023, Claim: 48 * time.Hour},
	} {
		c, err := config.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := workerOf(c, fleet.Card{Addr: "10.0.0.1:4306"}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
