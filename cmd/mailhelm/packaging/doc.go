// Command packaging writes the files of a release into a folder: archives with the program
// for each platform, Debian packages, a container image as an OCI layout, the compose file,
// an SBOM and checksums. `make release` builds the program for each platform first, and then
// runs this command.
//
// It uses only the standard library, because the formats are small and the usual tools, such
// as nfpm and ko, would bring several hundred modules. The same programs give the same bytes:
// every file gets the time of the commit.
package main
