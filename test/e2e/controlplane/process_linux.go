package controlplane

import "syscall"

// diesWithParent keeps a test binary that is killed from leaving servers behind.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
