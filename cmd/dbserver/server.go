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

// stopPatience bounds a Stop whose caller sets no bound.
const stopPatience = 2 * time.Minute

// Server is a running server, or one that ran. Its methods may be called by many
// goroutines.
type Server struct {
	installation *Installation
	directory    *directory
	process      *process
	port         int

	asked atomic.Bool   // whether its end was asked for
	done  chan struct{} // closed once the process is reaped and its directory given up
	err   error         // set before done is closed
}

func newServer(installation *Installation, d *directory, p *process, port int) *Server {
	s := &Server{installation: installation, directory: d, process: p, port: port, done: make(chan struct{})}
	go s.watch()
	return s
}

// watch waits for the process to end; it is the goroutine behind Done.
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

// Addr is where clients connect: 127.0.0.1 and the port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Socket is the path of the Unix socket, through which root needs no password.
func (s *Server) Socket() string { return s.directory.socket }

// Log is the path of the file that every run of the server adds to.
func (s *Server) Log() string { return s.directory.file("server.log") }

// CA is the path of the certificate that verifies the server's.
func (s *Server) CA() string { return s.directory.file("tls/" + authorityFile) }

// Done is closed once the server has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is nil while the server runs and when it ended because it was told to;
// otherwise it says how it ended.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop shuts the server down as an operator would and waits for it; a paused one
// is resumed. When ctx is done first, the server is killed and the error says
// so: its data is whole, and recovered at the next start. In every case it has
// ended when Stop returns.
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

// Pause stops the server's every thread until Resume: to clients it is a server
// that has hung, its connections open.
func (s *Server) Pause() error { return s.process.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.process.signal(syscall.SIGCONT) }
