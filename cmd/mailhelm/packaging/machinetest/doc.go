// Package machinetest makes copies of the machine on which a test runs. A test may install packages
// in a copy, create users and start services, and this machine does not change: the copy has its
// own root folder, processes and network, and is gone when the test ends.
//
// The root folder of a copy is an overlay file system: it shows the files of this machine, and
// keeps changes in memory. The network has only a loopback, so that nothing in a copy can reach
// another machine. All of this needs Linux and root. A user namespace is not enough: it permits no
// overlay over a root folder that has further mounts, and it has a single user, while a package
// creates one.
package machinetest
