package main

import (
	"reflect"
	"testing"
)

const straceTable = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 34.69    3.811665        5937       642       142 futex
 17.64    1.938957          46     41774           write
 13.88    1.525393          32     46818      4990 read
------ ----------- ----------- --------- --------- ----------------
100.00    5.121214          25     89234      5132 total
`

func TestCallsAreRead(t *testing.T) {
	got, err := parseCalls(straceTable)
	want := []calls{{"read", 46818, 4990}, {"write", 41774, 0}, {"futex", 642, 142}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if said := describeCalls(got, 20000); said != "read 2.34 (0.25 in vain), write 2.09, futex 0.03 (0.01 in vain)" {
		t.Error(said)
	}
	for _, table := range []string{"", "% time  seconds  usecs/call  calls  errors syscall\n", " 1.0 0.1 1 5 x read\n"} {
		if got, err := parseCalls(table); err == nil {
			t.Errorf("%q: %v", table, got)
		}
	}
}
