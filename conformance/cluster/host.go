package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
)

// host runs what is written for tests outside of a test: package enginetest takes it as its
// testing.TB. The embedded TB is nil, so every method that enginetest calls is here.
type host struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
}

// stopped is the panic of a failed step; see [host.run].
type stopped struct{ reason string }

func (h *host) Helper()                           {}
func (h *host) Context() context.Context          { return h.ctx }
func (h *host) Logf(format string, args ...any)   { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (h *host) Errorf(format string, args ...any) { h.Logf(format, args...) }
func (h *host) Fatal(args ...any)                 { panic(stopped{fmt.Sprint(args...)}) }
func (h *host) Fatalf(format string, args ...any) { panic(stopped{fmt.Sprintf(format, args...)}) }
func (h *host) Skip(args ...any)                  { h.Fatal(args...) }
func (h *host) Cleanup(f func())                  { h.cleanups = append(h.cleanups, f) }

// TempDir returns a new folder, which is removed at the end.
func (h *host) TempDir() string {
	folder, err := os.MkdirTemp("", "mailhelm-cluster-")
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// run calls f, and then what Cleanup was given, the last one first. It returns an error if a
// step of f failed.
func (h *host) run(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s, ok := v.(stopped)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("%s", s.reason)
		}
		for _, cleanup := range slices.Backward(h.cleanups) {
			cleanup()
		}
	}()
	f()
	return nil
}
