//go:build !linux

package network

import "syscall"

// dropFirstSegments returns ENOTSUP: only Linux can drop segments at a listening socket.
func dropFirstSegments(uintptr) error { return syscall.ENOTSUP }
