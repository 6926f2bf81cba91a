package tracing

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"locus/config"
)

// newClient returns a client that sends the headers of a file, which it reads again for each request. It follows no
// redirects with them.
func newClient(o Options) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("tracing.ca: %w", err)
		}
		authorities := x509.NewCertPool()
		if !authorities.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tracing.ca: %s has no certificate", o.CA)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	}
	var through http.RoundTripper = transport
	if o.HeadersFile != "" {
		through = withHeaders{transport, o.HeadersFile}
		if _, err := readHeaders(o.HeadersFile); err != nil {
			return nil, err
		}
	}
	return &http.Client{
		Transport: through, Timeout: o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

type withHeaders struct {
	*http.Transport
	path string
}

func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	headers, err := readHeaders(w.path)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	for name, values := range headers {
		r.Header[name] = values
	}
	return w.Transport.RoundTrip(r)
}

// readHeaders reads lines such as `Authorization: Bearer …`. Its errors don't contain a line's text.
func readHeaders(path string) (http.Header, error) {
	text, err := config.ReadSecret(path)
	if err != nil {
		return nil, fmt.Errorf("tracing.headers_file: %w", err)
	}
	headers := http.Header{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "" && !ok:
		case !ok:
			return nil, errors.New("tracing.headers_file: a line is not `Name: value`")
		default:
			headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return headers, nil
}
