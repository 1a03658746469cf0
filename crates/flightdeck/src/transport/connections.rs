//! Limits how many HTTP connections are open at once. Further ones wait in the kernel's queue until one ends.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Far more than hooks and viewers of one person need, and below the usual limit of open files.
pub const CONNECTIONS_MAX: usize = 512;

#[derive(Debug)]
pub struct Bounded<L> {
    listener: L,
    free: Arc<Semaphore>,
}

impl<L> Bounded<L> {
    pub fn new(listener: L, connections_max: usize) -> Self {
        Self { listener, free: Arc::new(Semaphore::new(connections_max)) }
    }
}

impl<L: Listener> Listener for Bounded<L> {
    type Io = CountedStream<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // The semaphore is never closed, so this waits until a place is free.
        let place = Arc::clone(&self.free).acquire_owned().await.ok();
        let (io, addr) = self.listener.accept().await;
        (CountedStream { io, _place: place }, addr)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that gives its place back when it ends.
#[derive(Debug)]
pub struct CountedStream<IO> {
    io: IO,
    _place: Option<OwnedSemaphorePermit>,
}

impl<IO: AsyncRead + Unpin> AsyncRead for CountedStream<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, to)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for CountedStream<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }
    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::net::{TcpListener, TcpStream};

    #[tokio::test]
    async fn one_connection_too_many_waits_until_another_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut bounded = Bounded::new(listener, 1);
        let _clients = [TcpStream::connect(addr).await.unwrap(), TcpStream::connect(addr).await.unwrap()];
        let (first, _) = bounded.accept().await;
        assert!(bounded.accept().now_or_never().is_none());
        drop(first);
        bounded.accept().await;
    }
}
