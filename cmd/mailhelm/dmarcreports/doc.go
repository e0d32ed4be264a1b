// Package dmarcreports is `mailhelm dmarc`: commands for DMARC aggregate reports in files. They read
// XML, gzip, zip, base64, and mail with such a file attached, and need no installation.
//
// Package core/domainauth/report reads one report; this package finds reports in files and
// folders, adds up what they say, and prints it.
package dmarcreports
