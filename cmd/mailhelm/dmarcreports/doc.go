// Package dmarcreports is `mailhelm dmarc`: commands about DMARC that need no installation. `show`
// reads aggregate reports in files: XML, gzip, zip, base64, and mail with such a file attached.
// `record` asks DNS for the record of a domain.
//
// Package core/domainauth/report reads one report; this package finds reports in files and
// folders, adds up what they say, and prints it. Package core/mailauth/dmarc reads records.
package dmarcreports
