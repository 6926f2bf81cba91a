package compressed

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Algorithm is one of the protocol's compression algorithms.
type Algorithm interface {
	// open starts to decompress a frame.
	open(from io.Reader) (decompressor, error)
	// release takes back a decompressor from open.
	release(decompressor)
	// pack appends the compressed form of b. It returns false if that isn't shorter.
	pack(dst, b []byte) (packed []byte, ok bool)
}

type decompressor interface{ io.Reader }

// Zlib is CLIENT_COMPRESS, and Zstd is CLIENT_ZSTD_COMPRESSION_ALGORITHM. Both favour speed over size.
var (
	Zlib Algorithm = &zlibFrames{}
	Zstd Algorithm = &zstdFrames{}
)

// buffer is the memory for a frame.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func borrow() *buffer { return buffers.Get().(*buffer) }

// giveBack returns a buffer to the pool. It keeps only sizes that most writes need.
func giveBack(b *buffer) {
	const kept = 64 << 10
	if cap(b.b) <= kept {
		buffers.Put(b)
	}
}

func newOwned(b []byte) io.Reader { return bytes.NewReader(bytes.Clone(b)) }

// zlibFrames pools readers and writers, which are expensive to make.
type zlibFrames struct{ readers, writers sync.Pool }

func (z *zlibFrames) open(from io.Reader) (decompressor, error) {
	if r, ok := z.readers.Get().(io.Reader); ok {
		return r, r.(zlib.Resetter).Reset(from, nil)
	}
	return zlib.NewReader(from)
}

func (z *zlibFrames) release(d decompressor) { z.readers.Put(d) }

func (z *zlibFrames) pack(dst, b []byte) ([]byte, bool) {
	out := appender{dst}
	w, ok := z.writers.Get().(*zlib.Writer)
	if ok {
		w.Reset(&out)
	} else {
		w, _ = zlib.NewWriterLevel(&out, zlib.BestSpeed) // the level is valid
	}
	_, _ = w.Write(b) // the buffer accepts every write
	_ = w.Close()
	z.writers.Put(w)
	return out.b, len(out.b)-len(dst) < len(b)
}

type appender struct{ b []byte }

func (a *appender) Write(b []byte) (int, error) {
	a.b = append(a.b, b...)
	return len(b), nil
}

type zstdFrames struct{ readers, writers sync.Pool }

// Frames are at most 16 MiB, and windows need not exceed their contents.
const mostWindow = 16 << 20

func (z *zstdFrames) open(from io.Reader) (decompressor, error) {
	if r, ok := z.readers.Get().(*zstd.Decoder); ok {
		return r, r.Reset(from)
	}
	return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
}

func (z *zstdFrames) release(d decompressor) {
	if r, ok := d.(*zstd.Decoder); ok && r.Reset(nil) == nil {
		z.readers.Put(r)
	}
}

func (z *zstdFrames) pack(dst, b []byte) ([]byte, bool) {
	w, ok := z.writers.Get().(*zstd.Encoder)
	if !ok {
		w, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(piece)) // the options are valid
	}
	out := w.EncodeAll(b, dst)
	z.writers.Put(w)
	return out, len(out)-len(dst) < len(b)
}
