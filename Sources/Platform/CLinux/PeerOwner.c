#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// An address and a port in network byte order. IPv4 is an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2).
struct end {
    struct in6_addr address;
    __be16 port;
};

static struct end end_of_ipv4(const void *address, __be16 port) {
    struct end end = {.port = port};
    end.address.s6_addr[10] = end.address.s6_addr[11] = 0xFF;
    memcpy(&end.address.s6_addr[12], address, 4);
    return end;
}

static struct end end_of_ipv6(const void *address, __be16 port) {
    struct end end = {.port = port};
    memcpy(&end.address, address, sizeof end.address);
    return end;
}

static struct end end_of(const struct sockaddr_storage *address) {
    const struct sockaddr_in *ipv4 = (const void *)address;
    const struct sockaddr_in6 *ipv6 = (const void *)address;
    return address->ss_family == AF_INET ? end_of_ipv4(&ipv4->sin_addr, ipv4->sin_port)
                                         : end_of_ipv6(&ipv6->sin6_addr, ipv6->sin6_port);
}

static int is_same(struct end one, struct end other) {
    return one.port == other.port && IN6_ARE_ADDR_EQUAL(&one.address, &other.address);
}

/// Writes the address in the form of the request: 4 bytes for IPv4.
static void put_address(__be32 place[4], struct end end, int is_ipv4) {
    if (is_ipv4) memcpy(place, &end.address.s6_addr[12], 4);
    else memcpy(place, &end.address, 16);
}

/// Reads the kernel's answer about one socket, and refuses an answer about any other socket.
static int owner_told(const char *answer, long count, struct end peer, struct end own, unsigned *owner) {
    struct nlmsghdr head;
    struct inet_diag_msg told;
    errno = EPROTO;
    if (count < (long)sizeof head) return -1;
    memcpy(&head, answer, sizeof head);
    if (head.nlmsg_type == NLMSG_ERROR && count >= (long)(sizeof head + sizeof(int))) {
        int error;
        memcpy(&error, answer + sizeof head, sizeof error);
        errno = error < 0 ? -error : EPROTO;
        return -1;
    }
    if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || count < (long)(sizeof head + sizeof told)) return -1;
    memcpy(&told, answer + sizeof head, sizeof told);
    int is_ipv4 = told.idiag_family == AF_INET;
    const struct inet_diag_sockid *id = &told.id;
    struct end from = is_ipv4 ? end_of_ipv4(id->idiag_src, id->idiag_sport) : end_of_ipv6(id->idiag_src, id->idiag_sport);
    struct end to = is_ipv4 ? end_of_ipv4(id->idiag_dst, id->idiag_dport) : end_of_ipv6(id->idiag_dst, id->idiag_dport);
    // A listening socket is found by its port too. A closed socket has user 0 and no inode. A socket that is closed
    // while the kernel writes the answer also has no inode, because the kernel writes the user before the inode.
    errno = ENOTCONN;
    if (!is_same(from, peer) || !is_same(to, own) || told.idiag_inode == 0) return -1;
    if (told.idiag_state != TCP_ESTABLISHED && told.idiag_state != TCP_CLOSE_WAIT) return -1;
    *owner = told.idiag_uid;
    return 0;
}

static int tcp_peer_owner(struct end peer, struct end own, unsigned *owner) {
    int is_ipv4 = IN6_IS_ADDR_V4MAPPED(&peer.address) && IN6_IS_ADDR_V4MAPPED(&own.address);
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question = {
        .head = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {
            .sdiag_family = is_ipv4 ? AF_INET : AF_INET6, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U,
            .id = {.idiag_sport = peer.port, .idiag_dport = own.port,
                   .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    put_address(question.body.id.idiag_src, peer, is_ipv4);
    put_address(question.body.id.idiag_dst, own, is_ipv4);
    int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (kernel == -1) return -1;
    const struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    char answer[1024];
    long count = sendto(kernel, &question, sizeof question, 0, (const void *)&address, sizeof address);
    // The kernel answers before sendto(2) returns, so recv(2) does not have to wait.
    if (count != -1) count = recv(kernel, answer, sizeof answer, MSG_DONTWAIT);
    int number = errno;
    close(kernel);
    errno = number;
    return count == -1 ? -1 : owner_told(answer, count, peer, own, owner);
}

int clinux_peer_owner(int socket, unsigned *owner) {
    struct sockaddr_storage own = {0}, peer = {0};
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (getsockname(socket, (void *)&own, &own_size) == -1) return -1;
    if (own.ss_family == AF_UNIX) {
        struct ucred peer_process;
        socklen_t size = sizeof peer_process;
        if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer_process, &size) == -1) return -1;
        *owner = peer_process.uid;
        return 0;
    }
    if (getpeername(socket, (void *)&peer, &peer_size) == -1) return -1;
    if (own.ss_family != peer.ss_family || (own.ss_family != AF_INET && own.ss_family != AF_INET6)) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return tcp_peer_owner(end_of(&peer), end_of(&own), owner);
}

int clinux_reserve_loopback(int is_ipv6, unsigned short port) {
    int file = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return -1;
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int result = is_ipv6 ? bind(file, (struct sockaddr *)&ipv6, sizeof ipv6)
                         : bind(file, (struct sockaddr *)&ipv4, sizeof ipv4);
    if (result == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}
