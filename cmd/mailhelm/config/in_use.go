package config

import (
	"errors"
	"fmt"
	"syscall"
)

// AddressInUse is the error of a server if another program listens on an address. Commands
// without the flags of `mailhelm serve` replace its text by advice of their own.
type AddressInUse struct{ Port Port }

// Error returns advice for commands with all settings of a server.
func (e *AddressInUse) Error() string {
	return fmt.Sprintf("%s is in use: stop the program that listens there, or choose another address with %s, or six other consecutive ports with --port", e.Port.Addr, e.Port.Flag())
}

// windowsInUse is WSAEADDRINUSE, which Windows returns in place of EADDRINUSE. No other
// system has an error with this number.
const windowsInUse = syscall.Errno(10048)

// IsInUse reports whether listening failed because another program listens on the address.
func IsInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windowsInUse)
}
