package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// savedSchema is the version of the file format.
const savedSchema = 1

type saved struct {
	Schema   int               `json:"schema"`
	Revision int64             `json:"revision"`
	Values   map[string][]byte `json:"values"`
}

// WriteFile saves values in a file, to start without their source. It replaces the file atomically. Only the file's
// owner can read it.
func WriteFile(path string, values map[string][]byte, revision int64) error {
	text, err := json.Marshal(saved{savedSchema, revision, values})
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after success the file has been renamed
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return os.Rename(f.Name(), path)
}

// ReadFile reads a file of [WriteFile].
func ReadFile(path string) (values map[string][]byte, revision int64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, err)
	}
	if s.Schema != savedSchema || s.Values == nil {
		return nil, 0, fmt.Errorf("read %s: schema %d isn't %d: start the proxy once with the source, which writes the file again", path, s.Schema, savedSchema)
	}
	return s.Values, s.Revision, nil
}
