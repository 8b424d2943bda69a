package dyno.runner.drivers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.SocketFactory;

/**
 * Sockets of the file system, for drivers that connect by a `java.net.Socket`, which Java has none of for these. The path is
 * that of the one server of this process. Drivers make an object of it by the name of the class.
 */
public final class LocalSockets extends SocketFactory {
    private static String path;

    /** For a library that makes a factory of its own name. */
    public LocalSockets() {}

    static void at(String socket) {
        path = socket;
    }

    @Override
    public Socket createSocket() {
        return new LocalSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
        return connected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
        return connected();
    }

    static Socket connected() throws IOException {
        Socket socket = new LocalSocket();
        socket.connect(null, 0);
        return socket;
    }

    /** It connects to the path, whatever address it is given. What is an option of TCP alone is ignored. */
    private static final class LocalSocket extends Socket {
        private SocketChannel channel;

        @Override
        public void connect(SocketAddress address) throws IOException {
            connect(address, 0);
        }

        @Override
        public void connect(SocketAddress address, int timeout) throws IOException {
            channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            channel.connect(UnixDomainSocketAddress.of(path));
        }

        /** Not by `Channels`, whose streams share one lock for reading and writing. */
        @Override
        public InputStream getInputStream() {
            return new InputStream() {
                @Override
                public int read() throws IOException {
                    byte[] one = new byte[1];
                    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
                }

                @Override
                public int read(byte[] bytes, int start, int length) throws IOException {
                    return length == 0 ? 0 : channel.read(ByteBuffer.wrap(bytes, start, length));
                }
            };
        }

        @Override
        public OutputStream getOutputStream() {
            return new OutputStream() {
                @Override
                public void write(int one) throws IOException {
                    write(new byte[] {(byte) one}, 0, 1);
                }

                @Override
                public void write(byte[] bytes, int start, int length) throws IOException {
                    ByteBuffer all = ByteBuffer.wrap(bytes, start, length);
                    while (all.hasRemaining()) {
                        channel.write(all);
                    }
                }
            };
        }

        @Override
        public boolean isConnected() {
            return channel != null && channel.isConnected();
        }

        @Override
        public boolean isClosed() {
            return channel != null && !channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            if (channel != null) {
                channel.close();
            }
        }

        @Override
        public void shutdownInput() throws IOException {
            channel.shutdownInput();
        }

        @Override
        public void shutdownOutput() throws IOException {
            channel.shutdownOutput();
        }

        @Override
        public void setTcpNoDelay(boolean on) {}

        @Override
        public void setKeepAlive(boolean on) {}

        @Override
        public void setSoTimeout(int timeout) {}

        @Override
        public int getSoTimeout() {
            return 0;
        }

        @Override
        public void setTrafficClass(int trafficClass) {}

        @Override
        public void setReceiveBufferSize(int size) {}

        @Override
        public void setSendBufferSize(int size) {}

        @Override
        public int getSendBufferSize() {
            return 8192;
        }

        @Override
        public void setSoLinger(boolean on, int linger) {}
    }
}
