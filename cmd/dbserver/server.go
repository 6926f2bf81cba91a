package dbserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// stopPatience bounds a Stop whose caller sets no limit.
const stopPatience = 2 * time.Minute

// Server is a server that runs, or has run. Its methods may be called concurrently.
type Server struct {
	installation *Installation
	directory    *directory
	process      *process
	port         int

	asked atomic.Bool   // whether its end was requested
	done  chan struct{} // closed once the process has been reaped and its directory released
	err   error         // set before done is closed
}

func newServer(installation *Installation, d *directory, p *process, port int) *Server {
	s := &Server{installation: installation, directory: d, process: p, port: port, done: make(chan struct{})}
	go s.watch()
	return s
}

// watch waits for the process to end, and then closes done.
func (s *Server) watch() {
	<-s.process.exited
	s.err = s.directory.close()
	if !s.asked.Load() {
		s.err = errors.Join(fmt.Errorf("%s in %s ended by itself: %w; see %s",
			s.Engine(), s.Dir(), s.process.ending(), s.Log()), s.err)
	}
	close(s.done)
}

func (s *Server) Engine() Engine  { return s.installation.Engine }
func (s *Server) Version() string { return s.installation.Version }
func (s *Server) Pid() int        { return s.process.pid() }
func (s *Server) Port() int       { return s.port }
func (s *Server) Dir() string     { return s.directory.path }

// Addr returns the address for clients: 127.0.0.1 and the port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Socket returns the path of the Unix socket by which root logs in without a password.
func (s *Server) Socket() string { return s.directory.socket }

// Log returns the path of the log file, to which every run of the server appends.
func (s *Server) Log() string { return s.directory.file("server.log") }

// CA returns the path of the CA certificate that verifies the server's certificate.
func (s *Server) CA() string { return s.directory.file("tls/" + authorityFile) }

// Done returns a channel that is closed once the server has ended, for any reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns nil while the server runs, and after a requested end. Otherwise it returns how the server ended.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop shuts the server down cleanly and waits for its end. It resumes a paused server first. If ctx ends
// before, Stop kills the server and returns an error. The data is then intact, and the next start recovers it.
// When Stop returns, the server has ended in any case.
func (s *Server) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	s.asked.Store(true)
	if err := errors.Join(s.process.signal(syscall.SIGTERM), s.process.signal(syscall.SIGCONT)); err != nil {
		return fmt.Errorf("stop %s in %s: %w", s.Engine(), s.Dir(), err)
	}
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop %s in %s: killed, it was still running: %w",
			s.Engine(), s.Dir(), context.Cause(ctx)), s.Kill())
	}
}

// Kill ends the server at once, as kill -9 does, and waits until it is gone.
func (s *Server) Kill() error {
	s.asked.Store(true)
	if err := s.process.kill(); err != nil {
		return fmt.Errorf("kill %s in %s: %w", s.Engine(), s.Dir(), err)
	}
	<-s.done
	return s.err
}

// Pause stops all threads of the server until Resume. To clients, the server is unresponsive with open
// connections.
func (s *Server) Pause() error { return s.process.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.process.signal(syscall.SIGCONT) }
