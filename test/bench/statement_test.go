package main

import (
	"bytes"
	"testing"
)

func TestTextPacket(t *testing.T) {
	r, err := newRequest(step{sql: "SELECT {order}, {buyer} FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	d := draw{buyer: -7, order: 42}
	want := append([]byte{20, 0, 0, 0, comQuery}, "SELECT 42, -7 FROM t"...)
	want[0] = byte(len(want) - headerSize)
	if got := r.appendTo(nil, &d); !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestExecutePacket(t *testing.T) {
	r, err := newRequest(step{sql: "SELECT {order}, {buyer}"})
	if err != nil {
		t.Fatal(err)
	}
	r.statement = 9
	want := []byte{
		32, 0, 0, 0, comStmtExecute, 9, 0, 0, 0, 0, 1, 0, 0, 0,
		0, 1, typeLongLong, 0, typeLongLong, 0,
		42, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	}
	if got := r.appendTo([]byte{1}, &draw{buyer: -1, order: 42}); !bytes.Equal(got[1:], want) {
		t.Errorf("got  %v\nwant %v", got[1:], want)
	}
}

func TestUnknownParameterIsRefused(t *testing.T) {
	if _, err := newRequest(step{sql: "SELECT {nobody}"}); err == nil {
		t.Error("accepted")
	}
}

// All statements of this program use known parameters, and no two steps have the same text by mistake.
func TestAllStepsAreWellFormed(t *testing.T) {
	steps := append(transaction(full), transaction(stamped)...)
	steps = append(steps, selectByBuyer(), selectByOrder(), countAll(width), firstTen())
	for _, s := range steps {
		if _, err := newRequest(s); err != nil {
			t.Error(err)
		}
	}
}
