package compressed

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
)

var algorithms = map[string]Algorithm{"zlib": Zlib, "zstd": Zstd}

// pair returns the two ends of a connection after the login.
func pair(t *testing.T, a Algorithm) (client, server *Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	client, server = New(near, nil, a), New(far, nil, a)
	client.Begin()
	server.Begin()
	return client, server
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 700_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for name, a := range algorithms {
		for what, b := range map[string][]byte{
			"short": []byte("SELECT 1"), "long": bytes.Repeat([]byte("SELECT 1 "), 300_000), "noise": noise, "one byte": {0},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				client, server := pair(t, a)
				for range 3 {
					go func() { _, _ = client.Write(b) }()
					got := make([]byte, len(b))
					if _, err := io.ReadFull(server, got); err != nil || !bytes.Equal(got, b) {
						t.Fatalf("%v; equal: %v", err, bytes.Equal(got, b))
					}
					if server.next != client.next {
						t.Errorf("numbers %d and %d", server.next, client.next)
					}
				}
			})
		}
	}
}

// The answer that ends the login isn't compressed. Bytes that were read together with it are not lost.
func TestTheEndOfTheLogin(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	frame := (&Conn{algorithm: Zlib}).append(nil, []byte("early"))
	server := New(far, frame, Zlib)
	go func() { _, _ = server.Write([]byte("OK")) }()
	got := make([]byte, 2)
	if _, err := io.ReadFull(near, got); err != nil || string(got) != "OK" {
		t.Errorf("%q, %v", got, err)
	}
	got = make([]byte, 5)
	if _, err := io.ReadFull(server, got); err != nil || string(got) != "early" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBadFrames(t *testing.T) {
	for what, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"a number left out":  {[]byte{1, 0, 0, 3, 0, 0, 0, 'x'}, ErrOutOfOrder},
		"nothing compressed": {[]byte{3, 0, 0, 0, 9, 0, 0, 'a', 'b', 'c'}, ErrMalformed},
		"cut off":            {[]byte{9, 0, 0, 0, 0, 0, 0, 'a'}, ErrMalformed},
		"half a header":      {[]byte{9, 0, 0}, io.ErrUnexpectedEOF},
	} {
		for name, a := range algorithms {
			near, far := net.Pipe()
			go func() {
				_, _ = near.Write(c.bytes)
				_ = near.Close()
			}()
			if _, err := io.ReadAll(New(far, nil, a)); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", name, what, err, c.want)
			}
		}
	}
}

// A frame whose content is longer than its header states is cut at that length, and a shorter one is an error.
// Neither makes the connection allocate the wrong length.
func TestAFrameOfAnotherLength(t *testing.T) {
	for name, a := range algorithms {
		for _, said := range []int{100, 2000} {
			near, far := net.Pipe()
			c := &Conn{algorithm: a}
			frame := c.append(nil, bytes.Repeat([]byte("x"), 1000))
			putUint24(frame[4:], said)
			go func() {
				_, _ = near.Write(frame)
				_ = near.Close()
			}()
			got, err := io.ReadAll(New(far, nil, a))
			if want := min(said, 1000); len(got) != want || (err != nil) != (said > 1000) {
				t.Errorf("%s, %d: %d bytes, %v", name, said, len(got), err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, a := range algorithms {
		f.Add((&Conn{algorithm: a}).append(nil, bytes.Repeat([]byte("seed "), 50)))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, a := range algorithms {
			near, far := net.Pipe()
			go func() {
				_, _ = near.Write(b)
				_ = near.Close()
			}()
			_, _ = io.Copy(io.Discard, New(far, nil, a))
			_ = far.Close()
		}
	})
}
