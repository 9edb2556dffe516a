//go:build !linux

package controlplane

import "syscall"

func diesWithParent() *syscall.SysProcAttr { return nil }
