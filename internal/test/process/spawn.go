package process

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Spawn starts a command that is killed when this process ends. One goroutine calls meanwhile, waits for the
// command's end, and calls ended with its result.
func Spawn(cmd *exec.Cmd, meanwhile func(), ended func(error)) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() { // the kernel ties the child's death to the thread that forked it
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			meanwhile()
			ended(cmd.Wait())
		}
	}()
	return <-started
}
