package network

import "golang.org/x/sys/unix"

// The flags byte of a TCP header (RFC 9293 section 3.1), and the two flags of it by which a
// segment that opens a connection is known: it has SYN and not ACK.
const (
	tcpFlagsAt = 13
	tcpSYN     = 0x02
	tcpACK     = 0x10
)

// onlyKnown is a program of the kernel's packet filter, which runs at a socket on TCP headers.
// It drops the segments that open a connection and passes all others. Accepted connections
// inherit the filter, which does not affect them.
var onlyKnown = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: tcpFlagsAt},
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: tcpSYN | tcpACK},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: tcpSYN, Jt: 0, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
}

// dropFirstSegments lets the kernel drop the first segments of connections to the listening
// socket fd.
func dropFirstSegments(fd uintptr) error {
	program := unix.SockFprog{Len: uint16(len(onlyKnown)), Filter: &onlyKnown[0]}
	return unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
}
