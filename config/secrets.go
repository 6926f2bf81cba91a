package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// SecretEnvironment is the prefix of environment variables that hold secrets.
const SecretEnvironment = "LOCUS_SECRET_"

// Secrets finds secrets by the names in the cluster's documents, so that etcd never holds one. It caches nothing: every
// look-up reads again, so a changed file takes effect at the next look-up.
type Secrets struct {
	Dir string `yaml:"dir"` // one file per name; empty for the environment only
}

var secretName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)

// Lookup returns the secret with a name. It is the content of the file <dir>/<name> without one final newline. If there
// is no such file, it is the environment variable LOCUS_SECRET_<NAME>, in upper case and with '_' for everything but
// letters and digits. A file that exists but can't be read, or is empty, is an error. No error contains a secret.
func (s Secrets) Lookup(name string) (string, error) {
	if !secretName.MatchString(name) {
		return "", fmt.Errorf("secret %q: a name is letters, digits, '_', '-' and '.', in parts divided by '/'", name)
	}
	variable := SecretVariable(name)
	looked := "the environment's " + variable
	if s.Dir != "" {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		secret, err := ReadSecret(path)
		if err == nil {
			return secret, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("secret %q: %w", name, err)
		}
		looked = "file " + path + " and " + looked
	}
	if secret := os.Getenv(variable); secret != "" {
		return secret, nil
	}
	return "", &MissingSecret{Name: name, Looked: looked}
}

// MissingSecret means that a secret is in none of the places where this process reads secrets.
type MissingSecret struct {
	Name   string
	Looked string // the places, for people
}

func (m *MissingSecret) Error() string {
	return fmt.Sprintf("secret %q: not found; looked for %s", m.Name, m.Looked)
}

// ReadSecret returns the content of a file with one secret, without one final newline. An empty file is an error.
func ReadSecret(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if secret == "" {
		return "", fmt.Errorf("file %s is empty", path)
	}
	return secret, nil
}

// SecretVariable returns the name of the environment variable for a secret that is in no file.
func SecretVariable(name string) string { return SecretEnvironment + environmentName(name) }

func environmentName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, name)
}
