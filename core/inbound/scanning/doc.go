// Package scanning limits the use of a scanner of messages, such as rspamd or clamd.
//
// A [Bounded] scanner has three limits. A scan ends after a time. At most a number of scans
// run at once; others wait for them within their time. After failures in a row, the scanner
// must first answer a ping. While it does not, scans fail at once, so that a scanner that is
// gone does not delay each message by the time of a scan.
//
// The ping decides, and not the number of failed scans, because outsiders choose the
// messages. A sender can cause scans that take too long. If such scans alone paused the
// scanner, the sender's next messages would pass without a scan.
package scanning
