package main

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

func TestPeakIsCountedAnew(t *testing.T) {
	const size = 64 << 20
	touch := func() {
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < size; i += 4096 {
			b[i] = 1
		}
		if err := syscall.Munmap(b); err != nil {
			t.Fatal(err)
		}
	}
	self := os.Getpid()
	touch()
	if err := resetPeak(self); err != nil {
		t.Fatal(err)
	}
	before, err := memoryOf(self)
	if err != nil || before.peak-before.now > size/2 {
		t.Fatalf("not reset: %+v, %v", before, err)
	}
	touch()
	after, err := memoryOf(self)
	if err != nil || after.peak-before.now < size*9/10 || after.now-before.now > size/2 {
		t.Errorf("before %+v, after %+v, %v", before, after, err)
	}
}

func TestCPUIsCounted(t *testing.T) {
	before, err := cpuOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ { // the test's own deadline bounds it
		runtime.KeepAlive(n * n)
		if now, err := cpuOf(os.Getpid()); err != nil || now > before {
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}
