// Package collector receives traces by the OpenTelemetry protocol over HTTP, in place of a real collector.
//
// It owns the received traces. The test decides whether they are correct.
package collector

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a received span.
type Span struct {
	Trace, ID, Parent string // in hex
	Name              string
	Server, Failed    bool
	Attributes        map[string]string // texts, numbers and lists of texts, all as text
	Took              time.Duration
}

// Collector listens until its test ends.
type Collector struct {
	URL string

	mu      sync.Mutex // guards the following fields
	status  int        // the status of answers; 0 means 200
	spans   []Span
	bodies  bytes.Buffer
	headers []http.Header
}

// Start listens on a loopback address.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := new(Collector)
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL + "/v1/traces"
	return c
}

// Answer sets the HTTP status of answers from now on.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := read(r)
	var request collected.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, r.Header.Clone())
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	c.bodies.Write(body)
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, of(s))
			}
		}
	}
}

func read(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	plain, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

func of(s *wire.Span) Span {
	span := Span{
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Name: s.Name, Server: s.Kind == wire.Span_SPAN_KIND_SERVER, Failed: s.Status.GetCode() == wire.Status_STATUS_CODE_ERROR,
		Attributes: map[string]string{}, Took: time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano),
	}
	for _, a := range s.Attributes {
		span.Attributes[a.Key] = text(a.Value)
	}
	return span
}

func text(v *common.AnyValue) string {
	if list := v.GetArrayValue(); list != nil {
		var all []string
		for _, one := range list.Values {
			all = append(all, text(one))
		}
		return strings.Join(all, ", ")
	}
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *common.AnyValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
	}
	return ""
}

// Spans returns the received spans.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Bytes returns everything received.
func (c *Collector) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.bodies.Bytes())
}

// Headers returns the headers of each request.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Within returns the direct children of a span, in the order of their arrival.
func Within(spans []Span, outer Span) []Span {
	return slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Parent != outer.ID || s.Trace != outer.Trace })
}
