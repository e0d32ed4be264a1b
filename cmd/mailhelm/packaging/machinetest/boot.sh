# Makes the root folder of a copy in the folder $1, which must be empty, and runs the program that
# the other arguments name in it, as the first process. It runs in namespaces of its own.
set -eu
folder=$1
shift
# The folder /proc is still that of the namespace outside, so it tells the id outside.
read -r pid _ </proc/self/stat
mount --make-rprivate /
mount -t tmpfs machine "$folder"
mkdir "$folder/changes" "$folder/work" "$folder/root"
mount -t overlay machine -o "lowerdir=/,upperdir=$folder/changes,workdir=$folder/work" "$folder/root"
cd "$folder/root"
mount -t tmpfs -o mode=755 machine dev
for device in null zero full random urandom tty; do
	touch dev/$device
	mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 machine dev/pts
mount -t tmpfs machine dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t proc machine proc
# Services must not change the kernel, which is that of this machine. The network is their own.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount --bind proc/sys/net proc/sys/net
mount -o remount,bind,rw proc/sys/net
mount -t sysfs -o ro machine sys
mount -t cgroup2 machine sys/fs/cgroup
mount -t tmpfs -o mode=755 machine run
mount -t tmpfs -o mode=1777 machine tmp
mkdir run/lock outside
rm -f etc/machine-id
echo 0123456789abcdef0123456789abcdef >etc/machine-id
pivot_root . outside
echo "$pid" >"/outside$folder.pid"
umount --lazy /outside
exec "$@" </dev/null
