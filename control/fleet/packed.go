package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

// Packed is an answer that is stored in etcd in compressed form.
type Packed[T any] struct{ Value T }

// mostUnpacked bounds the uncompressed size of an answer, in bytes.
const mostUnpacked = 64 << 20

// MarshalJSON implements json.Marshaler.
func (p Packed[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if err := json.NewEncoder(w).Encode(p.Value); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return json.Marshal(out.Bytes())
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Packed[T]) UnmarshalJSON(text []byte) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil {
		return err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("unpack an answer: %w", err)
	}
	return json.NewDecoder(io.LimitReader(r, mostUnpacked)).Decode(&p.Value)
}
